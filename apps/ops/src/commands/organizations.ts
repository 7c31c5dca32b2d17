import { OrganizationFreezer } from "@outreach/backoffice/organizations/OrganizationFreezer"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { PartnerActivityReader } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { DisplayName } from "@outreach/domain/DisplayName"
import { createIdentifier } from "@outreach/domain/Identifier"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { organization } from "../inputs/commonFlags.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"
import { formatMovePlan, movePlan } from "../organizations/movePlan.ts"
import { formatActivity, readActivity } from "../organizations/readActivity.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { print, printList, printRecord, printToStderr } from "../output/Output.ts"
import { secretSummaries } from "../signingSecrets.ts"

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
    yield* printList(yield* (yield* OrganizationReader).list, [
      "id",
      "name",
      "createdAt",
      "clockAheadSeconds",
      "frozenAt",
    ])
  }),
).pipe(Command.withDescription("List the organizations, oldest first"))

const show = reading(
  "show",
  { organization },
  Effect.fn("ops.organizations.show")(function* (input) {
    const activity = yield* readActivity(input.organization)
    yield* print(activity, () => formatActivity(activity))
  }),
).pipe(
  Command.withDescription(
    "Show how an organization uses the API: its keys and their limit, errors, pollers, and the secrets that it signs with",
  ),
  Command.provide(Layer.mergeAll(PartnerActivityReader.layer, ApiKeyRepositoryPg, secretSummaries)),
)

/** How often a freeze looks for what is still in flight. */
const LOOK_AGAIN_EVERY = "500 millis"

const freeze = changing(
  "freeze",
  { organization },
  Effect.fn("ops.organizations.freeze")(function* (input) {
    const freezer = yield* OrganizationFreezer
    const { frozenAt, older } = yield* freezer.freeze(input.organization)
    let printed = ""
    while (true) {
      const inFlight = yield* freezer.inFlight(input.organization, older)
      const { transactions, messages, endpoints, calls } = inFlight
      if (transactions.length + messages + endpoints + calls === 0) break
      const waiting = [
        transactions.length > 0 ? `the transactions of ${transactions.join(", ")}` : [],
        messages > 0 ? formatCount(messages, "message") : [],
        endpoints > 0 ? `${formatCount(endpoints, "endpoint")} that workers give up` : [],
        calls > 0 ? formatCount(calls, "webhook") : [],
      ].flat()
      const sentence = `Nothing new begins. Waits for what is in flight: ${waiting.join(", ")}.`
      if (sentence !== printed) yield* printToStderr(sentence)
      printed = sentence
      yield* Effect.sleep(LOOK_AGAIN_EVERY)
    }
    yield* printRecord({ id: input.organization, frozenAt, walPosition: yield* freezer.walPosition })
  }),
).pipe(
  Command.withDescription(
    "Let nothing new begin for an organization on this server, and wait until nothing is in flight: before it moves to another. Requests get a 503",
  ),
)

const unfreeze = changing(
  "unfreeze",
  { organization, yes },
  Effect.fn("ops.organizations.unfreeze")(function* (input) {
    yield* confirm("serve the organization from this server, which no other server may do at the same time", input)
    yield* (yield* OrganizationFreezer).unfreeze(input.organization)
    yield* printRecord({ id: input.organization, frozenAt: null })
  }),
).pipe(
  Command.withDescription(
    "Serve an organization from this server: at the target of a move, or when a move is given up. Asks first, or needs --yes",
  ),
)

const exportPublication = reading(
  "export-publication",
  { organization },
  Effect.fn("ops.organizations.exportPublication")(function* (input) {
    const { find, movedTables } = yield* OrganizationReader
    const steps = movePlan(yield* find(input.organization), yield* movedTables)
    yield* print({ steps }, () => formatMovePlan(steps))
  }),
).pipe(
  Command.withDescription(
    "Print the statements that move an organization to another server by logical replication; it runs none of them",
  ),
)

/** `ops organizations …` */
export const organizations = Command.make("organizations").pipe(
  Command.withDescription("The partners' accounts"),
  Command.withSubcommands([create, list, show, freeze, unfreeze, exportPublication]),
  Command.provide(Layer.mergeAll(OrganizationRepository.layer, OrganizationReader.layer, OrganizationFreezer.layer)),
)
