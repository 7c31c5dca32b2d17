import { auditPage } from "./auditPage.tsx"

/** Shows who did what. */
export const auditRoutes = [auditPage]
