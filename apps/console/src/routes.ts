import { liveRoute } from "./http/liveRoute.ts"
import { auditPage } from "./pages/audit/auditPage.tsx"
import { campaignMailPage } from "./pages/campaigns/CampaignMailPage.tsx"
import { campaignPage } from "./pages/campaigns/CampaignPage.tsx"
import { campaignsPage } from "./pages/campaigns/CampaignsPage.tsx"
import {
  cancelCampaign,
  changeCampaignRate,
  pauseCampaign,
  sendCampaignTest,
} from "./pages/campaigns/campaignActions.ts"
import { campaignMail } from "./pages/campaigns/campaignMail.ts"
import { scheduleRoutes } from "./pages/campaigns/schedulePage.tsx"
import { deliveriesPage } from "./pages/deliveries/deliveriesPage.tsx"
import { replayDelivery, retryDelivery } from "./pages/deliveries/deliveryActions.ts"
import { deliveryPage, showDelivery } from "./pages/deliveries/deliveryPage.tsx"
import { digestDayPage } from "./pages/digest/digestDayPage.tsx"
import { digestPage } from "./pages/digest/digestPage.tsx"
import { verifyDigestAction } from "./pages/digest/verifyDigestAction.tsx"
import {
  disableEndpointAction,
  enableEndpointAction,
  replayLogAction,
  showAddressAction,
  testEndpointAction,
  updateEndpointAction,
} from "./pages/endpoints/endpointActions.tsx"
import { endpointPage } from "./pages/endpoints/endpointPage.tsx"
import { endpointsPage } from "./pages/endpoints/endpointsPage.tsx"
import { replayLogPage } from "./pages/endpoints/replayLogPage.tsx"
import { replayInbox, replayInboxEvent } from "./pages/inbox/inboxActions.ts"
import { inboxEventPage, showInboxEvent } from "./pages/inbox/inboxEventPage.tsx"
import { inboxPage } from "./pages/inbox/inboxPage.tsx"
import { issuePage } from "./pages/issues/issuePage.tsx"
import { issuesPage } from "./pages/issues/issuesPage.tsx"
import { purgeIssue, purgePage } from "./pages/issues/purgePage.tsx"
import { cancelReplay } from "./pages/issues/ReplayJobs.tsx"
import { replayDeadLetters, replayPage } from "./pages/issues/replayPage.tsx"
import { issueKeyAction, revokeKeyAction, rotateKeyAction } from "./pages/partners/keyActions.tsx"
import { partnerPage } from "./pages/partners/partnerPage.tsx"
import { partnersPage } from "./pages/partners/partnersPage.tsx"
import { revokeSecretAction, rotateSecretAction } from "./pages/partners/secretActions.tsx"
import { findPage, search } from "./pages/people/findPage.tsx"
import { erase, exportPerson, liftPerson, planErasureOf, suppressPerson } from "./pages/people/personActions.tsx"
import { personPage, showPerson } from "./pages/people/personPage.tsx"
import { addSuppression, liftSuppression } from "./pages/suppressions/suppressionActions.ts"
import { showSuppressions, suppressionsPage } from "./pages/suppressions/suppressionsPage.tsx"
import { systemPage } from "./pages/system/systemPage.tsx"
import { todayPage } from "./pages/today/todayPage.tsx"

const today = [todayPage, liveRoute] as const

const campaigns = [campaignsPage, campaignPage, campaignMailPage, ...campaignMail, ...scheduleRoutes] as const
const campaignActions = [pauseCampaign, changeCampaignRate, sendCampaignTest, cancelCampaign] as const

const deliveries = [deliveriesPage, deliveryPage, showDelivery, retryDelivery, replayDelivery] as const

const issues = [issuesPage, issuePage, replayPage, replayDeadLetters, purgePage, purgeIssue, cancelReplay] as const

const inbox = [inboxPage, inboxEventPage, showInboxEvent, replayInbox, replayInboxEvent] as const

const digest = [digestPage, digestDayPage, verifyDigestAction] as const

const endpoints = [endpointsPage, endpointPage, replayLogPage, showAddressAction, testEndpointAction] as const
const endpointActions = [updateEndpointAction, disableEndpointAction, enableEndpointAction, replayLogAction] as const

const partners = [partnersPage, partnerPage, issueKeyAction, rotateKeyAction, revokeKeyAction] as const
const secretActions = [rotateSecretAction, revokeSecretAction] as const

const people = [findPage, search, personPage, showPerson, suppressPerson, liftPerson] as const
const erasure = [exportPerson, planErasureOf, erase] as const

const suppressions = [suppressionsPage, showSuppressions, addSuppression, liftSuppression] as const

/** Every page and action of the console. */
export const routes = [
  ...today,
  ...campaigns,
  ...campaignActions,
  ...deliveries,
  ...issues,
  ...inbox,
  ...digest,
  systemPage,
  ...endpoints,
  ...endpointActions,
  ...partners,
  ...secretActions,
  ...people,
  ...erasure,
  ...suppressions,
  auditPage,
] as const
