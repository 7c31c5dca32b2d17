import type { DatabaseSync } from "node:sqlite"
import type { Outcome, Policy } from "@outreach/retry-policy"

/** A call to make, as passed to a worker. */
export interface Job {
  readonly id: number
  readonly url: string
  readonly body: string
  /** Attempt number, starting at 1. */
  readonly attempt: number
  /** Start of the first attempt in Unix milliseconds. */
  readonly firstAt: number
}

export interface QueueOptions {
  /** Lease of a worker: longer than any call takes. Then the job is due again. */
  readonly leaseMs: number
}

const TABLE = `create table if not exists jobs (
  id integer primary key,
  url text not null,
  body text not null,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'dead')),
  attempt integer not null default 0,
  first_at integer,
  due_at integer not null,
  reason text
) strict;
create index if not exists jobs_due on jobs (due_at) where state = 'waiting'`

/** Creates a queue in a database. All of its state is stored, so a worker may be killed at any time. */
export function createQueue(database: DatabaseSync, policy: Policy, { leaseMs }: QueueOptions) {
  database.exec("pragma journal_mode = wal; pragma busy_timeout = 5000")
  database.exec(TABLE)
  const insert = database.prepare("insert into jobs (url, body, due_at) values (?, ?, ?) returning id")
  const find = database.prepare(`select id, url, state, attempt, due_at as "dueAt", reason from jobs where id = ?`)
  // Counts the attempt now, so that a job with a killed worker is repeated like a failed one.
  const lease = database.prepare(`
    update jobs set attempt = attempt + 1, first_at = coalesce(first_at, :now), due_at = :now + :lease
    where id in (select id from jobs where state = 'waiting' and due_at <= :now order by due_at limit :most)
    returning id, url, body, attempt, first_at as "firstAt"`)
  // Ignores the result of an attempt that another worker has repeated since.
  const write = database.prepare(`
    update jobs set state = :state, due_at = :dueAt, reason = :reason
    where id = :id and attempt = :attempt and state = 'waiting'`)

  return {
    add: (url: string, body: string): number => Number(insert.get(url, body, Date.now())?.["id"]),
    find: (id: number) => find.get(id),
    lease: (most: number): Job[] => lease.all({ now: Date.now(), lease: leaseMs, most }) as unknown as Job[],
    settle: ({ id, attempt, firstAt }: Job, outcome: Outcome): void => {
      const now = Date.now()
      const next = policy.next({ attempt, outcome, elapsed: now - firstAt, random: Math.random })
      const settled = next.retry
        ? { state: "waiting", dueAt: now + Math.ceil(next.delay), reason: outcome.reason }
        : next.because === "success"
          ? { state: "done", dueAt: now, reason: outcome.reason }
          : { state: "dead", dueAt: now, reason: `${outcome.reason}, ${next.because}` }
      write.run({ id, attempt, ...settled })
    },
  }
}
