module.exports = (output, context) => output.split(', ').reverse().join(', ');
