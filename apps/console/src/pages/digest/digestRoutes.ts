import { digestDayPage } from "./digestDayPage.tsx"
import { digestPage } from "./digestPage.tsx"
import { verifyDigestAction } from "./verifyDigestAction.tsx"

/** Programs' days, funnels and quotas. */
export const digestRoutes = [digestPage, digestDayPage, verifyDigestAction] as const
