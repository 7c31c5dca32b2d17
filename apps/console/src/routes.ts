import { auditRoutes } from "./pages/audit/auditRoutes.ts"
import { campaignRoutes } from "./pages/campaigns/campaignRoutes.ts"
import { deliveriesRoutes } from "./pages/deliveries/deliveriesRoutes.ts"
import { digestRoutes } from "./pages/digest/digestRoutes.ts"
import { endpointRoutes } from "./pages/endpoints/endpointRoutes.ts"
import { inboxRoutes } from "./pages/inbox/inboxRoutes.ts"
import { issuesRoutes } from "./pages/issues/issuesRoutes.ts"
import { partnerRoutes } from "./pages/partners/partnerRoutes.ts"
import { peopleRoutes } from "./pages/people/peopleRoutes.ts"
import { suppressionRoutes } from "./pages/suppressions/suppressionRoutes.ts"
import { systemRoutes } from "./pages/system/systemRoutes.ts"
import { todayRoutes } from "./pages/today/todayRoutes.ts"

/** Every page and action of the console. */
export const routes = [
  // One line for each subject: `...campaignRoutes` of pages/campaigns/campaignRoutes.ts.
  ...todayRoutes,
  ...campaignRoutes,
  ...deliveriesRoutes,
  ...issuesRoutes,
  ...inboxRoutes,
  ...digestRoutes,
  ...systemRoutes,
  ...endpointRoutes,
  ...partnerRoutes,
  ...peopleRoutes,
  ...suppressionRoutes,
  ...auditRoutes,
] as const
