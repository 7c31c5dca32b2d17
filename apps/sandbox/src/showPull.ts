import { RecipientRegister } from "@outreach/domain/recipients/RecipientRegister"
import { Effect } from "effect"
import type { Seeded } from "./keepsakes.ts"
import { say } from "./say.ts"

const SINCE = "2020-01-01T00:00:00Z"

/** Prints the commands that pull the list of recipient records, and the oldest of them, as the partner does. */
export const showPull = Effect.fnUntraced(function* (baseUrl: string, { organization_id, api_key }: Seeded) {
  const [oldest] = yield* (yield* RecipientRegister).page(organization_id, { since: SINCE }, 1)
  const tokens = `${baseUrl}/v1/partners/consumer/tokens`
  const curl = `curl -s -H 'Authorization: Bearer ${api_key}'`
  yield* say(`
Pull the records as the partner does, two a page, or one by its token:

  ${curl} '${tokens}?since=${SINCE}&limit=2'
  ${curl} ${tokens}/${oldest!.token}
`)
})
