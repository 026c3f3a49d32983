#include "forwarding_director.h"

namespace guideway {

Result<std::unique_ptr<ForwardingDirector>> ForwardingDirector::open(const DirectorConfig& config) {
  std::unique_ptr<ForwardingDirector> out(new ForwardingDirector);
  auto ports = Ports::open(config);
  if (!ports) return tl::unexpected(ports.error());
  out->ports_ = std::move(*ports);
  out->publisher_ = std::make_unique<QsbrPublisher>(static_cast<unsigned>(config.workers.size()));
  out->next_hop_ = out->next_hops_.index_of(ipv4(backend_address)).value();
  out->next_hops_.set(out->next_hop_, {NextHop::State::resolved, 1, backend_mac});
  out->workers_ = std::make_unique<Workers>(config, *out->ports_, out->next_hops_, *out->publisher_);
  out->publisher_->publish(one_backend(out->next_hop_, 1));
  return out;
}

std::uint64_t ForwardingDirector::counted(Verdict verdict) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < workers_->size(); ++i)
    sum += workers_->counters(i).verdicts.packets[static_cast<std::size_t>(verdict)].get();
  return sum;
}

std::uint64_t ForwardingDirector::sum(Counter VerdictCounters::*counter) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < workers_->size(); ++i) sum += (workers_->counters(i).verdicts.*counter).get();
  return sum;
}

std::uint64_t ForwardingDirector::packets_in() const { return sum(&VerdictCounters::packets_in); }

std::uint64_t ForwardingDirector::all_verdicts() const {
  std::uint64_t sum = 0;
  for (std::size_t verdict = 0; verdict < verdict_count; ++verdict)
    sum += counted(static_cast<Verdict>(verdict));
  return sum;
}

}  // namespace guideway
