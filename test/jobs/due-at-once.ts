import type pg from 'pg'

/**
 * From now on jobs are due at once, whatever pause they are queued or repeated with. What the queue itself writes when it
 * unlocks a failed job stays, because that holds only until its pause is decided.
 */
export const dueAtOnce = (pool: pg.Pool): Promise<unknown> =>
  pool.query(`
    create function public.due_at_once() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' or old.locked_at is null then new.run_at = least(new.run_at, now()); end if;
      return new;
    end $$;
    create trigger due_at_once before insert or update of run_at on graphile_worker._private_jobs
      for each row execute function public.due_at_once()`)
