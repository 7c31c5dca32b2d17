import { expect, it } from "vitest"
import { statementName } from "../src/samplingTracer.ts"

it.each([
  ["select id from organizations organization where name is null", "select from organizations"],
  ["\n  select * from take_due($1, $2)", "take_due"],
  ["select keep_partitions($1)", "keep_partitions"],
  [
    "insert into inbox (organization_id, body) select $1, $2 where not exists (select from organizations)",
    "insert into inbox",
  ],
  [
    "with draft as (select 1), event as (\n insert into events (id) select id from draft) select from event",
    "insert into events",
  ],
  ["update inbox set applied_at = now() where event_id = any ($1::text[])", "update inbox"],
  ["update deliveries delivery set due_at = now()", "update deliveries"],
  ["delete from send_rates where until < now()", "delete from send_rates"],
  ["select id from recipients where id = $1 for update of recipients", "select from recipients"],
  ["select 1 from program_stages for no key update", "select from program_stages"],
  ["select count(*) from events", "select from events"],
  ["set local lock_timeout = 200", "set"],
  ["", "statement"],
])("names %j", (text, name) => {
  expect(statementName(text)).toBe(name)
})
