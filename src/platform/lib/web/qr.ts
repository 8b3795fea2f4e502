import { encode } from 'uqr'

/** A QR code as one SVG path with a square per module, so that no library's markup or styles get into the page. */
export function qrPicture(content: string) {
  const { size, data } = encode(content, { border: 2 })
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return { size, path: squares.join('') }
}
