import { Result } from "effect"
import { expect, it } from "vitest"
import { SendingHours } from "../../src/campaigns/SendingHours.ts"
import { parseInput } from "../../src/parseInput.ts"

const parse = parseInput(SendingHours)

it.each(["8-18", "0-24", "08-10", "22-24"])("takes the hours %s", (hours) => {
  expect(parse(hours)).toEqual(Result.succeed(hours))
})

it.each(["18-8", "8-9", "8-8", "23-25", "8", "8-", "-1-8", "8:00-18:00", "8-18 ", ""])("refuses %j", (hours) => {
  expect(Result.isFailure(parse(hours))).toBe(true)
})
