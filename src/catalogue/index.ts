export { doubtsAbout } from './doubts.ts'
export { pullDue } from './due-pulls.ts'
export type { EntryProblem } from './entries.ts'
export { applyLevelPrices } from './level-prices.ts'
export { findOffer, type Offer } from './offer-store.ts'
export { keysOnSale } from './price-store.ts'
export { applyProductChange, type ProductChange, queuePulls } from './product-change.ts'
export {
  deleteProductsOf,
  type Entry,
  exactEntry,
  findProduct,
  markProduct,
  type ProductSummary,
} from './product-store.ts'
export { pullCatalogue } from './pull-catalogue.ts'
export { type PriceReport, pullPrices } from './pull-prices.ts'
export { type PullReport, pullProduct } from './pull-product.ts'
export { listProducts, type ProductStory, showProduct } from './show-product.ts'
export { onePartner, oneProduct, priceRange } from './wire.ts'
