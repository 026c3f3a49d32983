#include "dataplane/pipeline.h"

#include "dataplane/stages.h"

namespace guideway {

void Pipeline::run(Burst& burst, const Snapshot& snapshot, std::uint32_t now_ms, Outputs& out) {
  stages::parse(parts_, burst);
  stages::find_service(snapshot, burst);
  stages::hash_flows(burst);
  stages::lookup_flows(parts_, snapshot, now_ms, burst);
  stages::choose_backend(parts_, now_ms, burst);
  stages::encapsulate(parts_, errors_, now_ms, burst);
  stages::answer(parts_, burst);
  stages::account(parts_, burst, out);
}

void Pipeline::sent(Outbox& box, std::uint16_t sent, Verdict otherwise) {
  VerdictCounters& counters = parts_.counters.verdicts;
  for (std::size_t i = 0; i < box.size; ++i) {
    Verdict verdict = box.verdict[i];
    if (i >= sent) {
      rte_pktmbuf_free(box.frames[i]);
      if (verdict != further_piece) verdict = otherwise;
    }
    if (verdict == further_piece) continue;
    const auto index = static_cast<std::size_t>(verdict);
    counters.packets[index].add(1);
    counters.bytes[index].add(box.bytes_in[i]);
  }
  box.size = 0;
}

}  // namespace guideway
