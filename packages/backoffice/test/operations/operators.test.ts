import { expect } from "@effect/vitest"
import { OperatorRepository, signIn } from "@outreach/domain/operators/Operators"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Layer } from "effect"
import {
  createOperator,
  createSignInLink,
  removeOperator,
  signOutOperator,
  updateOperator,
} from "../../src/operations/operators.ts"
import { ConsoleAddress } from "../../src/operators/ConsoleAddress.ts"

const address = Layer.succeed(ConsoleAddress, { linkUrl: "https://console.test" })
const { test } = testsOnDatabase({ layer: address })

const expires = 3600
const signInWith = ({ signInLink }: { readonly signInLink: string | null }) =>
  signIn({ linkToken: signInLink!.replace("https://console.test/sign-in/", "") })

test("adds a partner's operator with the first link, and finds it for the next", function* () {
  const organizationId = (yield* seedCampaign({ recipients: 0 })).organization.id
  const partner = { role: "partner", organizationId, name: "Sam", expires } as const
  const first = yield* createSignInLink.run(partner, "Dana")
  const second = yield* createSignInLink.run(partner, "Dana")
  expect(second).toMatchObject({ id: first.id, name: "Sam", role: "partner", organizationId })
  for (const link of [first, second]) {
    expect((yield* signInWith(link))?.operator).toMatchObject({ id: first.id, role: "partner" })
  }
  const admin = yield* createSignInLink.run({ ...partner, name: "Ada", role: "partner-admin" }, "Dana")
  expect((yield* signInWith(admin))?.operator).toMatchObject({ name: "Ada", role: "partner-admin", organizationId })
  const otherRole = yield* Effect.flip(createSignInLink.run({ ...partner, role: "partner-admin" }, "Dana"))
  expect(otherRole).toMatchObject({ _tag: "OperatorNameTaken" })
  yield* createOperator.run({ name: "Not a partner", role: "viewer", organizationId, expires }, "Dana")
  const taken = createSignInLink.run({ ...partner, name: "Not a partner" }, "Dana")
  expect(yield* Effect.flip(taken)).toMatchObject({ _tag: "OperatorNameTaken" })
  for (const unclear of [
    { role: "partner", name: "Sam" },
    { role: "partner", organizationId },
    { organizationId, name: "Sam" },
    { operatorId: first.id, role: "partner" },
    {},
  ] as const) {
    const error = yield* Effect.flip(createSignInLink.run({ ...unclear, expires }, "Dana"))
    expect(error).toMatchObject({ _tag: "InvalidSelection" })
  }
})

test("changes an operator's role, ends the sessions and removes the operator", function* () {
  const created = yield* createOperator.run({ name: "Signed in", role: "viewer", expires }, "Dana")
  const operatorId = created.id
  yield* signInWith(created)
  yield* signInWith(yield* createSignInLink.run({ operatorId, expires }, "Dana"))
  expect(yield* updateOperator.run({ operatorId, role: "operator" }, "Dana")).toMatchObject({ role: "operator" })
  const [session] = yield* OperatorRepository.use(({ listSessions }) => listSessions(operatorId))
  const ended = { operatorId, endedSessions: 1 }
  expect(yield* signOutOperator.run({ operatorId, sessionId: session!.id }, "Dana")).toEqual(ended)
  expect(yield* removeOperator.plan!({ operatorId })).toMatchObject({
    many: "1 operator, with 1 open session and every sign-in link",
    caution: { word: "Signed in" },
  })
  expect(yield* signOutOperator.run({ operatorId }, "Dana")).toEqual(ended)
  yield* removeOperator.run({ operatorId }, "Dana")
  expect(yield* Effect.flip(removeOperator.plan!({ operatorId }))).toMatchObject({ _tag: "OperatorNotFound" })
})
