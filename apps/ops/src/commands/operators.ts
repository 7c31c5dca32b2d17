import { operators as operatorList } from "@outreach/backoffice/lists/operators"
import {
  createOperator,
  createSignInLink,
  removeOperator,
  signOutOperator,
  updateOperator,
} from "@outreach/backoffice/operations/operators"
import { ConsoleAddress } from "@outreach/backoffice/operators/ConsoleAddress"
import { OperatorRepositoryPg } from "@outreach/postgres/operators/OperatorRepositoryPg"
import { Effect, Layer } from "effect"
import { group } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { command } from "../operationCommand.ts"
import { Target } from "../Target.ts"

const services = Layer.effect(
  ConsoleAddress,
  Effect.gen(function* () {
    const { consoleUrl } = yield* Target
    return { linkUrl: yield* consoleUrl }
  }),
)

export const operators = group({
  about: "Who may use the console",
  commands: {
    create: command(createOperator, { services }),
    list: listCommand(operatorList),
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
