import { pauseCampaign } from "@outreach/backoffice/operations/campaigns"
import { Effect } from "effect"
import { expect, expectTypeOf, it } from "vitest"
import { ActionForm } from "../../src/components/forms.tsx"
import { Page } from "../../src/components/layout.tsx"
import { defineAction, definePage } from "../../src/http/Route.ts"
import { pathTo } from "../../src/view/paths.ts"

const done = () => Effect.succeed({ to: "/", notice: "Done." })
const empty = () => Effect.succeed(<Page title="">…</Page>)
const pause = defineAction("/campaigns/:campaign/pause", pauseCampaign, { run: done })

it("a path defines its section and its parameters", () => {
  expect(pause.section).toBe("campaigns")
  expect(Object.keys(pause.params)).toEqual(["campaign"])
  expect(definePage("/keys/:key", { run: empty }).section).toBe("partners")
  expect(pathTo(pause, { campaign: "a/b" })).toBe("/campaigns/a%2Fb/pause")
})

it("a path of no section is named when the console starts", () => {
  expect(() => definePage("/nowhere", { run: empty })).toThrow("No section has the path /nowhere.")
})

it("a link or a form names each parameter of its path, and no other compiles", () => {
  expectTypeOf(pathTo<typeof pause.path>)
    .parameter(1)
    .toEqualTypeOf<{ readonly campaign: string }>()
  // @ts-expect-error the campaign is missing
  const withoutCampaign = <ActionForm action={pause} label="Pause" />
  // @ts-expect-error no parameter has this name
  const withUnknown = definePage("/campaigns/:unknown", { run: empty })
  expect([withoutCampaign.props.params, withUnknown.params]).toEqual([undefined, { unknown: undefined }])
})
