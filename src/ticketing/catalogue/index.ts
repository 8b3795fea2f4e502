export { PRODUCT_ACTIONS } from './actions.ts'
export { pullDue } from './due-pulls.ts'
export { markProduct } from './due-store.ts'
export { implausibleValues } from './implausible.ts'
export { applyLevelPrices } from './level-prices.ts'
export { keysOnSale } from './price-store.ts'
export { applyProductChange, queuePulls } from './product-change.ts'
export {
  deleteProductsOf,
  type Entry,
  exactEntry,
  exactJson,
  findOffer,
  findProduct,
} from './product-store.ts'
export { pullCatalogue } from './pull-catalogue.ts'
export { pullPrices } from './pull-prices.ts'
export { pullProduct } from './pull-product.ts'
export { listProducts } from './show-product.ts'
