import type { TestSchema } from "../../src/testDatabase.ts"
import { query } from "../query.ts"

/** What the example projects migrate to. */
export const schema: TestSchema = {
  name: "example",
  sources: [new URL("./schema.ts", import.meta.url)],
  migrate: async (url) => {
    await query(url, "create table things as select clock_timestamp()::text as made")
  },
}
