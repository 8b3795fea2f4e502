-- Partners that a process does not call at the moment, because its last calls failed; for operators, who ask any process.
create table partner_circuit (
  partner_id bigint not null,
  -- Of the process whose circuit breaker is open; made anew at each start.
  process uuid not null,
  opened_at timestamptz not null,
  retry_at timestamptz not null,
  primary key (partner_id, process)
);
create index partner_circuit_retry on partner_circuit (retry_at);
