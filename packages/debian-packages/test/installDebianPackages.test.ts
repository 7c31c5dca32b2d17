import { expect, it } from "vitest"
import { installDebianPackages } from "../src/installDebianPackages.ts"

it("returns the first program that is there, and installs nothing", async () => {
  expect(await installDebianPackages(["no-such-package"], ["/no/such/program", process.execPath])).toEqual({
    program: process.execPath,
  })
})
