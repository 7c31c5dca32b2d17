-- How many of a job's dead letters others replayed before it came to them.
alter table replay_jobs add column replayed_by_others integer default 0 not null;
update replay_jobs set kind = 'dead_letters' where kind = 'failures';
alter table replay_jobs drop constraint replay_jobs_kind_check;
alter table replay_jobs add constraint replay_jobs_kind_check check (kind = any (array['dead_letters', 'log']));
