-- In a transaction of its own: whoever holds a clock may be waiting for a table that 0004 has locked.

-- The server on which a clock was last advanced: when it started, and its identity as current_identity() tells it.
-- The first stamp on another server lies beyond all that the lost one may have given. A process of the last release leaves both as they are.
declare
  patience constant text := current_setting('lock_timeout');
begin
  -- Stamps wait behind a lock that is waited for, so it comes within a moment or is asked for again.
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      lock table organization_clock in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 200 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
  perform set_config('lock_timeout', patience, true);
end;
alter table organization_clock add column if not exists server_started_at timestamptz, add column if not exists identity text;

-- The clocks were advanced here until now.
update organization_clock set server_started_at = pg_postmaster_start_time(), identity = (select current_identity());
