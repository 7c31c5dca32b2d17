import { operators as operatorList } from "@outreach/backoffice/lists/operators"
import {
  createOperator,
  createSignInLink,
  removeOperator,
  signOutOperator,
  updateOperator,
} from "@outreach/backoffice/operations/operators"
import { ConsoleAddress } from "@outreach/backoffice/operators/ConsoleAddress"
import { Effect, Layer } from "effect"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { Target } from "../Target.ts"

const linkAddress = {
  services: Layer.effect(
    ConsoleAddress,
    Effect.gen(function* () {
      const { consoleUrl } = yield* Target
      return { linkUrl: yield* consoleUrl }
    }),
  ),
}

export const operators = group("operators", "Who may use the console", [
  command(createOperator, linkAddress),
  operatorList,
  updateOperator,
  signOutOperator,
  removeOperator,
])

export const signInLinks = group("sign-in-links", "Links by which operators sign in, once each", [
  command(createSignInLink, linkAddress),
])
