/*
 * Gives every block with data-copy a button that copies it, also blocks that come later; data-copy and data-copied are
 * the button's texts. The button stands before the block, or in the element that data-copy-place names.
 */
const addButtons = () => {
  for (const block of document.querySelectorAll('[data-copy]:not([data-copy-button])')) {
    block.dataset.copyButton = ''
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = block.dataset.copy
    button.setAttribute('aria-live', 'polite')
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(block.textContent)
        button.textContent = block.dataset.copied
      } catch {
        // No clipboard, as over plain HTTP or inside some apps: what is selected is copied by hand.
        getSelection().selectAllChildren(block)
      }
    })
    const place = document.getElementById(block.dataset.copyPlace)
    if (place) place.append(button)
    else block.before(button)
  }
}
new MutationObserver(addButtons).observe(document.body, { childList: true, subtree: true })
addButtons()
