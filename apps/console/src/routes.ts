import { liveRoute } from "./http/LiveValues.ts"
import { auditPage } from "./pages/audit/auditPage.tsx"
import {
  campaignPage,
  cancelCampaign,
  changeCampaignRate,
  pauseCampaign,
  sendCampaignTest,
} from "./pages/campaigns/CampaignPage.tsx"
import { campaignsPage } from "./pages/campaigns/CampaignsPage.tsx"
import { campaignMail } from "./pages/campaigns/campaignMail.tsx"
import { scheduleRoutes } from "./pages/campaigns/schedulePage.tsx"
import { deliveriesPage } from "./pages/deliveries/deliveriesPage.tsx"
import { deliveryRoutes } from "./pages/deliveries/deliveryPage.tsx"
import { digestDayPage, verifyDigestAction } from "./pages/digest/digestDayPage.tsx"
import { digestPage } from "./pages/digest/digestPage.tsx"
import {
  disableEndpointAction,
  enableEndpointAction,
  showAddressAction,
  testEndpointAction,
  updateEndpointAction,
} from "./pages/endpoints/endpointActions.tsx"
import { endpointPage } from "./pages/endpoints/endpointPage.tsx"
import { endpointsPage } from "./pages/endpoints/endpointsPage.tsx"
import { replayLogRoutes } from "./pages/endpoints/replayLogPage.tsx"
import { inboxEventRoutes } from "./pages/inbox/inboxEventPage.tsx"
import { inboxPage, replayInbox } from "./pages/inbox/inboxPage.tsx"
import { issueRoutes } from "./pages/issues/issuePage.tsx"
import { cancelReplay, issuesPage } from "./pages/issues/issuesPage.tsx"
import { replayRoutes } from "./pages/issues/replayPage.tsx"
import { issueKeyAction, revokeKeyAction, rotateKeyAction } from "./pages/partners/Keys.tsx"
import { partnerPage } from "./pages/partners/partnerPage.tsx"
import { partnersPage } from "./pages/partners/partnersPage.tsx"
import { revokeSecretAction, rotateSecretAction } from "./pages/partners/Secrets.tsx"
import { findPage, search } from "./pages/people/findPage.tsx"
import { personActions } from "./pages/people/personActions.tsx"
import { personPages } from "./pages/people/personPage.tsx"
import { addSuppression, liftSuppression } from "./pages/suppressions/suppressionActions.ts"
import { suppressionPages } from "./pages/suppressions/suppressionsPage.tsx"
import { systemPage } from "./pages/system/systemPage.tsx"
import { todayPage } from "./pages/today/todayPage.tsx"

export const routes = [
  [todayPage, liveRoute],
  [campaignsPage, campaignPage, ...campaignMail, ...scheduleRoutes],
  [pauseCampaign, changeCampaignRate, sendCampaignTest, cancelCampaign],
  [deliveriesPage, ...deliveryRoutes],
  [issuesPage, ...issueRoutes, ...replayRoutes, cancelReplay],
  [inboxPage, ...inboxEventRoutes, replayInbox],
  [digestPage, digestDayPage, verifyDigestAction],
  [endpointsPage, endpointPage, showAddressAction, testEndpointAction, ...replayLogRoutes],
  [updateEndpointAction, disableEndpointAction, enableEndpointAction],
  [partnersPage, partnerPage, issueKeyAction, rotateKeyAction, revokeKeyAction],
  [rotateSecretAction, revokeSecretAction],
  [findPage, search, ...personPages, ...personActions],
  [...suppressionPages, addSuppression, liftSuppression],
  [auditPage, systemPage],
].flat()
