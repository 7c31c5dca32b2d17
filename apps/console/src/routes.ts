/** Every page and action of the console. */
export const routes = [
  // One line for each subject: `...campaignRoutes` of pages/campaigns/campaignRoutes.ts.
] as const
