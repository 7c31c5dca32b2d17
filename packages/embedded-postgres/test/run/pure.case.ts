import { expect, test } from "vitest"

test("needs no database", () => expect(1 + 1).toBe(2))
