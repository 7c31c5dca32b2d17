-- A job of one group is of a kind of its own, which a worker of the last release finishes without doing anything.
alter table replay_jobs add column group_id text collate "C";
alter table replay_jobs add column status integer;
alter table replay_jobs drop constraint replay_jobs_kind_check;
alter table replay_jobs add constraint replay_jobs_kind_check check (kind = any (array['dead_letters', 'log', 'failures']));
