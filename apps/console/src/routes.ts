import { auditRoutes } from "./pages/audit/auditPage.tsx"
import { certificatePage } from "./pages/audit/certificatePage.tsx"
import { campaignRoutes } from "./pages/campaigns/CampaignPage.tsx"
import { campaignMail } from "./pages/campaigns/campaignMail.tsx"
import { campaignsRoutes } from "./pages/campaigns/campaignsPages.tsx"
import { deliveriesRoutes } from "./pages/deliveries/deliveriesPage.tsx"
import { deliveryRoutes } from "./pages/deliveries/deliveryPage.tsx"
import { endpointRoutes } from "./pages/endpoints/endpointPages.tsx"
import { eventRoutes } from "./pages/events/eventPages.tsx"
import { importRoutes } from "./pages/imports/importsPage.tsx"
import { newImportRoutes } from "./pages/imports/newImportPage.tsx"
import { inboxRoutes } from "./pages/inbox/inboxPages.tsx"
import { issueRoutes } from "./pages/issues/issuePages.tsx"
import { numbersRoutes } from "./pages/numbers/numbersPage.tsx"
import { operatorRoutes } from "./pages/operators/operatorPages.tsx"
import { partnerRoutes } from "./pages/partners/partnerPages.tsx"
import { secretActions } from "./pages/partners/Secrets.tsx"
import { findRoutes } from "./pages/people/findPage.tsx"
import { personRoutes } from "./pages/people/personPage.tsx"
import { programRoutes } from "./pages/programs/programPages.tsx"
import { senderRoutes } from "./pages/senders/senderPages.tsx"
import { suppressionRoutes } from "./pages/suppressions/suppressionsPage.tsx"
import { systemPage } from "./pages/system/systemPage.tsx"
import { todayPage } from "./pages/today/todayPage.tsx"

export const routes = [
  [todayPage],
  numbersRoutes,
  [...campaignsRoutes, ...campaignRoutes, ...campaignMail],
  [...importRoutes, ...newImportRoutes],
  [...deliveriesRoutes, ...deliveryRoutes],
  issueRoutes,
  eventRoutes,
  inboxRoutes,
  endpointRoutes,
  programRoutes,
  senderRoutes,
  [...partnerRoutes, ...secretActions],
  [...findRoutes, ...personRoutes],
  suppressionRoutes,
  operatorRoutes,
  [...auditRoutes, certificatePage, systemPage],
].flat()
