import { issueKeyAction, revokeKeyAction, rotateKeyAction } from "./keyActions.tsx"
import { partnerPage } from "./partnerPage.tsx"
import { partnersPage } from "./partnersPage.tsx"
import { revokeSecretAction, rotateSecretAction } from "./secretActions.tsx"

/** The pages of partners, and what is done there. */
export const partnerRoutes = [
  partnersPage,
  partnerPage,
  issueKeyAction,
  rotateKeyAction,
  revokeKeyAction,
  rotateSecretAction,
  revokeSecretAction,
] as const
