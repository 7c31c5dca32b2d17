import { campaignMailPage } from "./CampaignMailPage.tsx"
import { campaignPage } from "./CampaignPage.tsx"
import { campaignsPage } from "./CampaignsPage.tsx"
import {
  cancelCampaign,
  changeCampaignRate,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  sendCampaignTest,
} from "./campaignActions.ts"
import { campaignMail } from "./campaignMail.ts"

export const campaignRoutes = [
  campaignsPage,
  campaignPage,
  campaignMailPage,
  ...campaignMail,
  scheduleCampaign,
  pauseCampaign,
  resumeCampaign,
  changeCampaignRate,
  sendCampaignTest,
  cancelCampaign,
] as const
