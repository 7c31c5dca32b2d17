import { addSuppression, liftSuppression } from "./suppressionActions.ts"
import { showSuppressions, suppressionsPage } from "./suppressionsPage.tsx"

/** Shows and changes whom nobody may write to. */
export const suppressionRoutes = [suppressionsPage, showSuppressions, addSuppression, liftSuppression]
