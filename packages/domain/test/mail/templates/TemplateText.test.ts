import { Result } from "effect"
import { expect, it } from "vitest"
import { TemplateText } from "../../../src/mail/Message.ts"
import { parseInput } from "../../../src/textSchema.ts"

it("ends the lines of a form's text with line feeds, and keeps its other characters", () => {
  expect(parseInput(TemplateText)("De\u00adar\r\n{{ token }}\n")).toEqual(Result.succeed("De\u00adar\n{{ token }}\n"))
})
