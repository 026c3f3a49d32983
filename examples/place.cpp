// place: says which node owns each key.
//   c++ -std=c++20 place.cpp -o place $(pkg-config --cflags --libs guideway)
//   ./place rendezvous web-1,web-2=200,web-3 alice bob
#include <guideway/algorithm.h>

#include <iostream>
#include <sstream>

using namespace guideway;

static int complain(const Error& error) {
  std::cerr << error.text() << '\n';
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: place ALGORITHM NODE[=WEIGHT],... KEY...\n";
    for (const Algorithm* known : algorithms()) std::cerr << known->name << ": " << known->summary << '\n';
    return 2;
  }
  const auto algorithm = find_algorithm(argv[1]);
  if (!algorithm) return complain(algorithm.error());
  std::vector<Node> nodes;
  std::istringstream list(argv[2]);
  for (std::string word; std::getline(list, word, ',');) {
    const auto equals = word.find('=');
    Node node{.name = word.substr(0, equals)};
    if (equals != std::string::npos) std::istringstream(word.substr(equals + 1)) >> node.weight;
    nodes.push_back(node);
  }
  const auto placement = place(**algorithm, nodes);
  if (!placement) return complain(placement.error());
  for (const std::string key : std::vector<std::string>(argv + 3, argv + argc)) {
    const MemberIndex owner = (*placement)->owner((*placement)->hash(key));
    std::cout << key << " -> " << (*placement)->nodes()[owner].name << '\n';
  }
}
