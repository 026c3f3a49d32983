/* extension_headers: how long a chain of IPv6 extension headers may be.
 * What: one number, for the director's parser and for the programs of a backend, C and C++.
 * Why:  a packet that the director forwards must be understood behind it, or it gets no second chance. */
#pragma once

#define GW_EXTENSION_HEADERS_MAX 8 /* a longer chain is nobody's honest packet; the walk stays bounded */
