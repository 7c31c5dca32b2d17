import { expect, it } from "vitest"
import { ops } from "../../src/components/ops.ts"

it("creates a command from arguments and flags, without those that have no value", () => {
  expect(
    ops("inbox show", "evt_1", { organization: "org_1", reveal: true, type: undefined, types: [], all: false }),
  ).toEqual(["ops", "inbox", "show", "evt_1", "--organization", "org_1", "--reveal"])
})

it("never turns a value into a flag", () => {
  expect(ops("inbox replay", "--all", { organization: "--yes" })).toEqual([
    "ops",
    "inbox",
    "replay",
    "--organization=--yes",
    "--",
    "--all",
  ])
})
