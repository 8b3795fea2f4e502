-- Which workers of durable jobs live. A worker renews its lease by the clock of the database, long before it ends. Once a
-- lease has ended its worker is dead, or takes no more jobs and calls nobody, and others may do what it held.
create table worker_lease (
  worker_id text primary key,
  ends_at   timestamptz not null
);
