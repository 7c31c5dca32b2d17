import { campaignMailPage } from "./CampaignMailPage.tsx"
import { campaignPage } from "./CampaignPage.tsx"
import { campaignsPage } from "./CampaignsPage.tsx"
import { cancelCampaign, changeCampaignRate, pauseCampaign, sendCampaignTest } from "./campaignActions.ts"
import { campaignMail } from "./campaignMail.ts"
import { scheduleRoutes } from "./schedulePage.tsx"

export const campaignRoutes = [
  campaignsPage,
  campaignPage,
  campaignMailPage,
  ...campaignMail,
  ...scheduleRoutes,
  pauseCampaign,
  changeCampaignRate,
  sendCampaignTest,
  cancelCampaign,
] as const
