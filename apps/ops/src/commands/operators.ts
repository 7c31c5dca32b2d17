import {
  createOperator,
  createSignInLink,
  removeOperator,
  signOutOperator,
  updateOperator,
} from "@outreach/backoffice/operations/operators"
import { ConsoleAddress } from "@outreach/backoffice/operators/ConsoleAddress"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { OperatorRepositoryPg } from "@outreach/postgres/operators/OperatorRepositoryPg"
import { Effect, Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { command } from "../operationCommand.ts"
import { Target } from "../Target.ts"

const services = Layer.effect(
  ConsoleAddress,
  Effect.gen(function* () {
    const { consoleUrl } = yield* Target
    return { linkUrl: yield* consoleUrl }
  }),
)

const list = reading({
  about: "List the operators of the console, oldest first, with their open sessions",
  run: () => OperatorRepository.use(({ list }) => list),
  columns: ["id", "name", "role", "organizationId", "sessions", "lastUsedAt", "createdAt", "removedAt"],
})

export const operators = group({
  about: "Who may use the console",
  commands: {
    create: command(createOperator, { services }),
    list,
    update: command(updateOperator),
    "sign-out": command(signOutOperator),
    remove: command(removeOperator),
  },
  services: OperatorRepositoryPg,
})

export const signInLinks = group({
  about: "Links by which operators sign in, once each",
  commands: { create: command(createSignInLink, { services }) },
  services: OperatorRepositoryPg,
})
