import { describe, expect } from "@effect/vitest"
import { Campaign } from "@outreach/domain/campaigns/Campaign"
import { Operator } from "@outreach/domain/operators/Operator"
import { ApiKey } from "@outreach/domain/organizations/ApiKey"
import { Organization } from "@outreach/domain/organizations/Organization"
import { Program } from "@outreach/domain/programs/Program"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { columnOf, rowsOf } from "@outreach/postgres/rowsOf"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Option, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { it } from "vitest"

const test = effectTest(runOnDatabase())

/** The entities that are read by the columns of their schema, and the columns of their tables that other statements read and write. */
const ENTITIES = [
  {
    ...{ table: "recipients", entity: Recipient },
    others: ["published_at", "withdrawn_at", "withdrawal_reason", "account_created_at", "erased_at", "test_subject"],
  },
  { table: "programs", entity: Program, others: [] },
  { table: "organizations", entity: Organization, others: ["frozen_at"] },
  { table: "api_keys", entity: ApiKey, others: ["hash"] },
  { table: "operators", entity: Operator, others: ["created_at", "removed_at"] },
  {
    ...{ table: "campaigns", entity: Schema.Struct(Struct.omit(Campaign.fields, ["hours"])) },
    others: ["hours_from", "hours_to"],
  },
] as const

const takesNull = (field: Schema.Top) => Option.isSome(Schema.decodeUnknownOption(field as Schema.Codec<unknown>)(null))

describe("the schema of an entity", () => {
  for (const { table, entity, others } of ENTITIES) {
    test(`names the columns of ${table}, and which of them may be null`, function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = yield* sql<{ name: string; isNullable: boolean }>`
        select attname as name, not attnotnull as "isNullable" from pg_attribute
        where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`
      const fields = Object.entries<Schema.Top>(entity.fields).map(([name, field]) => ({
        name: columnOf(name),
        isNullable: takesNull(field),
      }))
      const isOther = ({ name }: { readonly name: string }) => (others as ReadonlyArray<string>).includes(name)
      const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
      expect(columns.filter((column) => !isOther(column)).sort(byName)).toEqual(fields.sort(byName))
      expect(others.filter((name) => !columns.some((column) => column.name === name))).toEqual([])
    })
  }

  it("becomes the select list, and its values become an entity", () => {
    const { columns, fromValues } = rowsOf(
      Schema.Struct({ id: Schema.String, lastEventAt: Schema.NullOr(Schema.String) }),
    )
    expect(columns.segments).toEqual([{ _tag: "Literal", value: `id as "id", last_event_at as "lastEventAt"` }])
    expect(fromValues(["rcp_1", null])).toEqual({ id: "rcp_1", lastEventAt: null })
  })
})
