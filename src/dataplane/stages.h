// Stages: a packet's way through the director, in order; each is one function over a burst.
// What: every stage looks only at packets whose verdict is still `forward` and may give them another one;
//       mbufs are freed or handed on by `account` alone, but for fragments that wait.
// Thread: one worker.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/burst.h"
#include "dataplane/outputs.h"
#include "dataplane/pipeline.h"
#include "dataplane/token_bucket.h"

namespace guideway::stages {

// Ethernet, tags, IP and the transport header; frames for others and frames that lie.
void parse(const PipelineParts& parts, Burst& burst);
// Later fragments take on the flow of their first one, or wait for it. `lead_fragments` tells, once the hops are chosen,
// what became of first ones.
void follow_fragments(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms,
                      Burst& burst);
void lead_fragments(const PipelineParts& parts, Burst& burst);
// What other workers know of a datagram's first fragment.
[[nodiscard]] std::optional<Leader> leader_elsewhere(const PipelineParts& parts, std::uint64_t key,
                                                     std::uint32_t now_ms);
// Which service the destination belongs to; what belongs to none goes to the kernel.
void find_service(const Snapshot& snapshot, Burst& burst);
// Flow hash and row; asks for the memory that later stages touch.
void hash_flows(const PipelineParts& parts, Burst& burst);
// The backend that the flow was given to before, while that one still serves it.
void lookup_flows(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms, Burst& burst);
// The hops: the flow's backend, then its row's.
void choose_backend(Burst& burst);
// Wraps the packet and writes the frame for its next hop. `errors` bounds what is said about packets too big for it.
void encapsulate(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst);
// New flows into the flow table: those whose packet goes to the backend, so that none is tied to one it never reached.
void learn_flows(const PipelineParts& parts, std::uint32_t now_ms, Burst& burst);
// Turns packets into the answers to them: echo replies, and ICMP errors about packets that are too big.
void answer(const PipelineParts& parts, Burst& burst);
// Counts every packet once and puts it into its outbox or frees it.
void account(const PipelineParts& parts, const Burst& burst, Outputs& out);

}  // namespace guideway::stages
