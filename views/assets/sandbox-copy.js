/* Gives every block with data-copy a button that copies it; data-copy and data-copied are the button's texts. */
for (const block of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = block.dataset.copy
  button.setAttribute('aria-live', 'polite')
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = block.dataset.copied
  })
  block.before(button)
}
