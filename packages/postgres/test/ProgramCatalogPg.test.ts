import { describe, expect, it } from "@effect/vitest"
import { OrganizationRegistry } from "@outreach/domain/callers/OrganizationRegistry"
import { makeIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { ProgramCatalog } from "@outreach/domain/programs/ProgramCatalog"
import { Effect } from "effect"
import { runOnDatabase } from "./runOnDatabase.ts"

const run = runOnDatabase()

const organization = Effect.gen(function* () {
  return yield* (yield* OrganizationRegistry).create(yield* makeIdentifier("organization"), "Acme")
})
const create = Effect.fnUntraced(function* (organizationId: OrganizationId, slug: string) {
  const id = yield* makeIdentifier("program")
  const program = { organizationId, id, slug, name: "Heart failure", learnerTarget: 100, completerTarget: null }
  return yield* (yield* ProgramCatalog).create(program)
})

describe("ProgramCatalogPg", () => {
  it("gives a slug to one program of an organization", () =>
    run(
      Effect.gen(function* () {
        const [ours, theirs] = [yield* organization, yield* organization]
        expect(yield* create(ours.id, "heart-failure")).toMatchObject({
          organizationId: ours.id,
          slug: "heart-failure",
          status: "active",
          learnerTarget: 100,
          completerTarget: null,
        })
        expect(yield* Effect.flip(create(ours.id, "heart-failure"))).toMatchObject({ _tag: "ProgramSlugTaken" })
        expect((yield* create(theirs.id, "heart-failure")).organizationId).toBe(theirs.id)
      }),
    ))

  it("lists an organization's own programs, oldest first, or everybody's", () =>
    run(
      Effect.gen(function* () {
        const catalog = yield* ProgramCatalog
        const [ours, theirs] = [yield* organization, yield* organization]
        const programs = [yield* create(ours.id, "b"), yield* create(ours.id, "a")]
        const other = yield* create(theirs.id, "a")
        expect(yield* catalog.list(ours.id)).toEqual(programs)
        expect(yield* catalog.list()).toEqual(expect.arrayContaining([...programs, other]))
      }),
    ))

  it("refuses an organization that does not exist", () =>
    run(
      Effect.gen(function* () {
        const organizationId = yield* makeIdentifier("organization")
        expect(yield* Effect.flip(create(organizationId, "a"))).toMatchObject({
          _tag: "OrganizationNotFound",
          organizationId,
        })
      }),
    ))
})
