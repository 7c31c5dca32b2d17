import { createIdentifier } from "@outreach/domain/Identifier"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { DisplayName } from "../inputs/DisplayName.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"
import { printList, printRecord } from "../output/Output.ts"

const create = changing(
  "create",
  { name: parsedFlag("name", DisplayName, "The partner's name") },
  Effect.fn("ops.organizations.create")(function* (input) {
    const repository = yield* OrganizationRepository
    yield* printRecord(yield* repository.create(yield* createIdentifier("organization"), input.name))
  }),
).pipe(Command.withDescription("Add an organization: a partner's account"))

const list = reading(
  "list",
  {},
  Effect.fn("ops.organizations.list")(function* () {
    yield* printList(yield* (yield* OrganizationRepository).list, ["id", "name", "createdAt", "clockAheadSeconds"])
  }),
).pipe(Command.withDescription("List the organizations, oldest first"))

/** `ops organizations …` */
export const organizations = Command.make("organizations").pipe(
  Command.withDescription("The partners' accounts"),
  Command.withSubcommands([create, list]),
  Command.provide(OrganizationRepository.layer),
)
