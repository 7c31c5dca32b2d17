import { auditRoutes } from "./pages/audit/auditPage.tsx"
import { campaignRoutes } from "./pages/campaigns/CampaignPage.tsx"
import { campaignsRoutes } from "./pages/campaigns/CampaignsPage.tsx"
import { campaignMail } from "./pages/campaigns/campaignMail.tsx"
import { recipientsPages } from "./pages/campaigns/recipientsPage.tsx"
import { deadLetterRoutes } from "./pages/deliveries/deadLettersPage.tsx"
import { deliveriesRoutes } from "./pages/deliveries/deliveriesPage.tsx"
import { deliveryRoutes } from "./pages/deliveries/deliveryPage.tsx"
import { replayRoutes } from "./pages/deliveries/replaysPage.tsx"
import { endpointActions } from "./pages/endpoints/endpointActions.tsx"
import { endpointPage } from "./pages/endpoints/endpointPage.tsx"
import { endpointsRoutes } from "./pages/endpoints/endpointsPage.tsx"
import { eventPages } from "./pages/events/eventPage.tsx"
import { eventsRoutes } from "./pages/events/eventsPage.tsx"
import { importRoutes } from "./pages/imports/importsPage.tsx"
import { newImportRoutes } from "./pages/imports/newImportPage.tsx"
import { inboxEventRoutes } from "./pages/inbox/inboxEventPage.tsx"
import { inboxRoutes } from "./pages/inbox/inboxPage.tsx"
import { issueRoutes } from "./pages/issues/issuePage.tsx"
import { issuesRoutes } from "./pages/issues/issuesPage.tsx"
import { newRoutes } from "./pages/newPages.tsx"
import { numbersRoutes } from "./pages/numbers/numbersPage.tsx"
import { operatorRoutes } from "./pages/operators/operatorPage.tsx"
import { operatorsRoutes } from "./pages/operators/operatorsPage.tsx"
import { contactsAction } from "./pages/partners/Contacts.tsx"
import { keyActions } from "./pages/partners/Keys.tsx"
import { partnerPages } from "./pages/partners/partnerPage.tsx"
import { partnersRoutes } from "./pages/partners/partnersPage.tsx"
import { secretActions } from "./pages/partners/Secrets.tsx"
import { findRoutes } from "./pages/people/findPage.tsx"
import { personActions } from "./pages/people/personActions.tsx"
import { personPages } from "./pages/people/personPage.tsx"
import { programRoutes } from "./pages/programs/programPage.tsx"
import { programsRoutes } from "./pages/programs/programsPage.tsx"
import { removeSenderPages } from "./pages/senders/removeSenderPages.tsx"
import { senderRoutes } from "./pages/senders/senderPage.tsx"
import { sendersRoutes } from "./pages/senders/sendersPage.tsx"
import { suppressionRoutes } from "./pages/suppressions/suppressionsPage.tsx"
import { systemPage } from "./pages/system/systemPage.tsx"
import { todayPage } from "./pages/today/todayPage.tsx"

export const routes = [
  [todayPage],
  numbersRoutes,
  newRoutes,
  [...campaignsRoutes, ...campaignRoutes, ...campaignMail],
  recipientsPages,
  [...importRoutes, ...newImportRoutes],
  [...deliveriesRoutes, ...deliveryRoutes, ...deadLetterRoutes],
  [...issuesRoutes, ...issueRoutes, ...replayRoutes],
  [...eventsRoutes, ...eventPages],
  [...inboxRoutes, ...inboxEventRoutes],
  [...endpointsRoutes, endpointPage, ...endpointActions],
  [...programsRoutes, ...programRoutes],
  [...sendersRoutes, ...senderRoutes, ...removeSenderPages],
  [...partnersRoutes, ...partnerPages, contactsAction, ...keyActions, ...secretActions],
  [...findRoutes, ...personPages, ...personActions],
  suppressionRoutes,
  [...operatorsRoutes, ...operatorRoutes],
  [...auditRoutes, systemPage],
].flat()
