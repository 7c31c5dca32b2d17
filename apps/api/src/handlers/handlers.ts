import type { Handlers } from "../http/Handlers.ts"
import { getDigest } from "./digest.ts"
import { listEvents } from "./events.ts"
import { getHealth } from "./health.ts"
import { getToken, listCampaignRecipients, listTokens } from "./tokens.ts"
import { receiveWebhook } from "./webhooks.ts"

export const handlers: Handlers = {
  getHealth,
  getToken,
  listTokens,
  listEvents,
  listCampaignRecipients,
  getDigest,
  receiveWebhook,
}
