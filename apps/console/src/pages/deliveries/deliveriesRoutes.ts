import { deliveriesPage } from "./deliveriesPage.tsx"
import { replayDelivery, retryDelivery } from "./deliveryActions.ts"
import { deliveryPage, showDelivery } from "./deliveryPage.tsx"

/** The pages and actions about deliveries. */
export const deliveriesRoutes = [deliveriesPage, deliveryPage, showDelivery, retryDelivery, replayDelivery] as const
