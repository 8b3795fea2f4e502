/* Sends the answer to the app at once; without scripts the person presses the button. */
document.getElementById('answer').submit()
