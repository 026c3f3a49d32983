// Lessons: each is defined in the file of its name.
#pragma once

#include "guideway/lesson.h"

namespace guideway::lesson {

extern const Lesson hundred_positions;
extern const Lesson ring_of_ten;
extern const Lesson thousand_positions;
extern const Lesson random_rings;
extern const Lesson binary_search;

}  // namespace guideway::lesson
