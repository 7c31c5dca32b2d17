import type { Handlers } from "../http/Handlers.ts"
import { listCampaignRecipients } from "./campaignRecipients.ts"
import { listEvents } from "./events.ts"
import { getHealth } from "./health.ts"
import { getToken, listTokens } from "./tokens.ts"

/** What answers each operation of the contract. */
export const handlers: Handlers = {
  getHealth,
  getToken,
  listTokens,
  listEvents,
  listCampaignRecipients,
  getDigest: "not served",
  receiveWebhook: "not served",
  createSurvey: "not served",
  validateSurvey: "not served",
  presignUpload: "not served",
}
