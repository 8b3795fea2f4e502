-- What callers did in the current window of each rate (src/platform/throttle/rates.ts), summed over all processes. The subject is
-- a keyed hash, so no address and no app_key is kept for this. Counts of a minute need not outlive a crash of the
-- database, so they are spared the write-ahead log. Half of each page is left free for the updates that a row gets.
create unlogged table rate_count (
  subject        bytea primary key,
  uses           int not null,
  window_ends_at timestamptz not null
) with (fillfactor = 50);
create index rate_count_window on rate_count (window_ends_at);
